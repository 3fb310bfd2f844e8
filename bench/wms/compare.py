"""Compares quern geo serve with MapServer: rates of tiles with the same client, and pixels.

    compare.py QUERN LOAD [SECONDS]

QUERN is the program, LOAD that of bench/wms/load; each round takes SECONDS (10). It needs rasterio and Pillow, and Debian's
packages cgi-mapserver, spawn-fcgi and nginx-light: MapServer runs as FastCGI, with a process per core, behind nginx. Both servers
have the same scene (generate.py) with overviews, reproject to Web Mercator, interpolate bilinearly and send PNG. The tile cache of
Quern is off, except in the last line. Rounds alternate; the rate, the latencies and the CPU time of the server per tile are
printed for each.

Then maps of both servers are compared. MapServer reads other overviews and interpolates positions with its own error, so maps
agree closely but not exactly: the share of samples that differ by more than 8 of 255, and the mean difference, are printed.
"""

import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))

MAPFILE = """MAP
  NAME "bench"
  EXTENT 500000 5218080 581920 5300000
  SIZE 256 256
  PROJECTION "init=epsg:32633" END
  CONFIG "PROJ_LIB" "/usr/share/proj"
  WEB METADATA "wms_title" "bench" "wms_enable_request" "*" "wms_srs" "EPSG:3857 EPSG:4326 EPSG:32633" "wms_onlineresource" "http://127.0.0.1:{port}/mapserv?" END END
  OUTPUTFORMAT NAME "png" DRIVER AGG/PNG MIMETYPE "image/png" IMAGEMODE RGB EXTENSION "png" END
  LAYER NAME "scene" TYPE RASTER STATUS ON DATA "{data}" PROJECTION "init=epsg:32633" END PROCESSING "RESAMPLE=BILINEAR" METADATA "wms_title" "scene" END END
END
"""

NGINX = """worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/nginx.err; events {{ worker_connections 512; }}
http {{ access_log off; client_body_temp_path {folder}/b; fastcgi_temp_path {folder}/f; proxy_temp_path {folder}/p; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
 upstream mapserver {{ {servers} }}
 server {{ listen 127.0.0.1:{port}; location /mapserv {{ include /etc/nginx/fastcgi_params; fastcgi_pass mapserver; fastcgi_buffers 64 16k; }} }} }}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu(pids):
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def wait(url):
    for _ in range(100):
        try:
            return urllib.request.urlopen(url, timeout=10).read()
        except OSError:
            time.sleep(0.1)
    raise SystemExit("no answer from " + url)


def query(base, bbox, system="EPSG:3857", size=256):
    return (f"{base}SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=scene&STYLES=&SRS={system}&BBOX={bbox}&WIDTH={size}&HEIGHT={size}&FORMAT=image/png")


def start_mapserver(folder, scene):
    port = free_port()
    with open(f"{folder}/scene.map", "w") as f:
        f.write(MAPFILE.format(port=port, data=scene))
    with open(f"{folder}/mapserver.conf", "w") as f:
        f.write(f'CONFIG ENV MS_MAP_PATTERN "^{folder}/.*$" MS_MAPFILE "{folder}/scene.map" END END\n')
    env = dict(os.environ, MAPSERVER_CONFIG_FILE=f"{folder}/mapserver.conf")
    pids = []
    sockets = [f"{folder}/ms{i}.sock" for i in range(os.cpu_count())]
    for s in sockets:
        subprocess.run(["spawn-fcgi", "-s", s, "-M", "0777", "-P", s + ".pid", "--", "/usr/bin/mapserv"], env=env, check=True, stdout=subprocess.DEVNULL)
        with open(s + ".pid") as f:
            pids.append(int(f.read()))
    with open(f"{folder}/nginx.conf", "w") as f:
        f.write(NGINX.format(folder=folder, port=port, servers=" ".join(f"server unix:{s};" for s in sockets)))
    os.chmod(folder, 0o755)
    nginx = subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf", "-g", "daemon off;"], stderr=subprocess.DEVNULL)
    return f"http://127.0.0.1:{port}/mapserv?", pids, nginx


def start_quern(program, scene, *options):
    port = free_port()
    p = subprocess.Popen([program, "geo", "serve", "-q", "--listen", f"127.0.0.1:{port}", *options, scene], stdout=subprocess.DEVNULL)
    return f"http://127.0.0.1:{port}/wms?", p


def main():
    quern, load = sys.argv[1], sys.argv[2]
    seconds = sys.argv[3] if len(sys.argv) > 3 else "10"
    with tempfile.TemporaryDirectory() as folder:
        scene = f"{folder}/scene.tif"
        subprocess.run([sys.executable, f"{HERE}/generate.py", scene, "4096"], check=True)
        mapserver, pids, nginx = start_mapserver(folder, scene)
        plain, q = start_quern(quern, scene, "--cache", "-1")
        cached, c = start_quern(quern, scene)
        try:
            box = "1680000,6040000,1690000,6050000"
            for base in mapserver, plain, cached:
                wait(query(base, box))

            def measure(name, base, pids, *options):
                before = cpu(pids)
                out = subprocess.run([load, "-clients", "4", "-time", seconds + "s", *options, "-url", query(base, "{bbox}")], check=True, capture_output=True, text=True).stdout.strip()
                print(f"{name:10} {out}; CPU {1000 * (cpu(pids) - before) / int(out.split()[0]):.2f} ms per tile", flush=True)
                return float(out.split(", ")[1].split("/")[0])

            ratios = []
            for _ in range(3):
                a, b = measure("MapServer", mapserver, pids), measure("Quern", plain, [q.pid])
                ratios.append(b / a)
            print("rate of Quern / rate of MapServer:", ", ".join(f"{r:.1f}" for r in ratios))
            measure("kept tiles", cached, [c.pid], "-to", "14")
            compare(mapserver, plain)
        finally:
            q.terminate(), c.terminate(), nginx.terminate()
            for pid in pids:
                os.kill(pid, signal.SIGTERM)
            q.wait(), c.wait(), nginx.wait()


def compare(mapserver, quern):
    for name, box, system in (("enlarged", "1690000,6040000,1691000,6041000", "EPSG:3857"), ("same size", "1680000,6040000,1683800,6043800", "EPSG:3857"),
                              ("reduced", "1672000,6027000,1712000,6067000", "EPSG:3857"), ("degrees", "15.05,47.55,15.15,47.65", "EPSG:4326"),
                              ("own system", "510000,5280000,512560,5282560", "EPSG:32633")):
        a, b = (np.asarray(Image.open(io.BytesIO(urllib.request.urlopen(query(base, box, system)).read())).convert("RGB")).astype(int) for base in (mapserver, quern))
        d = np.abs(a - b)
        print(f"{name:12} mean difference {d.mean():.2f}, more than 8 in {100 * (d > 8).mean():.2f} %, worst {d.max()}")


main()
