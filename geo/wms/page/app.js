import Map from 'ol/Map.js';
import View from 'ol/View.js';
import TileLayer from 'ol/layer/Tile.js';
import XYZ from 'ol/source/XYZ.js';
import ScaleLine from 'ol/control/ScaleLine.js';
import Zoom from 'ol/control/Zoom.js';
import { defaults as interactions } from 'ol/interaction/defaults.js';
import { toLonLat, transformExtent } from 'ol/proj.js';

const $ = (id) => document.getElementById(id);
const mercatorLatitude = 85.0511;

const state = []; // of each layer: what the server says, the map's layer, style and time
let chosen = null;

const map = new Map({
  target: 'map',
  keyboardEventTarget: $('map'),
  controls: [new Zoom(), new ScaleLine()],
  interactions: interactions(),
  view: new View({ center: [0, 0], zoom: 2, constrainRotation: true }),
});

function query(s) {
  const q = new URLSearchParams();
  if (s.style !== 'default') q.set('STYLES', s.style);
  if (s.time) q.set('TIME', s.time);
  return q.toString();
}

function source(s) {
  const q = query(s);
  const name = encodeURIComponent(s.name);
  const high = devicePixelRatio > 1;
  return new XYZ({
    url: `${name}/{z}/{x}/{y}${high ? '@2x' : ''}.png${q ? '?' + q : ''}`,
    maxZoom: s.maxzoom, tilePixelRatio: high ? 2 : 1, transition: 150,
  });
}

function extentOf(bounds) {
  const [w, s, e, n] = bounds;
  return transformExtent([w, Math.max(s, -mercatorLatitude), e, Math.min(n, mercatorLatitude)], 'EPSG:4326', 'EPSG:3857');
}

function show(extent) {
  map.getView().fit(extent, { padding: [20, innerWidth > 600 ? 280 : 20, 60, 20], maxZoom: 20 });
}

const short = (time) => time.replace('T00:00:00Z', '');

function fill(select, values, value) {
  select.replaceChildren(...values.map((v) => new Option(short(v), v, false, v === value)));
}

function choose(s) {
  chosen = s;
  $('options').hidden = false;
  $('name').textContent = s.title;
  fill($('style'), s.styles, s.style);
  $('timeLabel').hidden = !s.times;
  if (s.times) fill($('time'), s.times, s.time);
  $('opacity').value = Math.round(s.layer.getOpacity() * 100);
  $('tilejson').href = `${encodeURIComponent(s.name)}/tile.json`;
  $('legend').src = `wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetLegendGraphic&FORMAT=image/png&LAYER=${encodeURIComponent(s.name)}&STYLE=${encodeURIComponent(s.style)}`;
  document.querySelectorAll('#layers li').forEach((li) => li.setAttribute('aria-current', li.dataset.name === s.name));
}

function row(s) {
  const li = document.createElement('li');
  li.dataset.name = s.name;
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = s.layer.getVisible();
  box.addEventListener('change', () => { s.layer.setVisible(box.checked); if (box.checked) choose(s); });
  box.addEventListener('focus', () => choose(s));
  label.append(box, s.title);
  li.append(label);
  return li;
}

async function start() {
  const answer = await fetch('layers.json');
  const { title, layers } = await answer.json();
  document.title = title;
  $('title').textContent = title;
  layers.forEach((l, i) => {
    const s = { ...l, style: 'default', time: l.times ? l.times[l.times.length - 1] : '' };
    s.layer = new TileLayer({ source: source(s), extent: extentOf(l.bounds), visible: i === 0 });
    map.addLayer(s.layer);
    state.push(s);
    $('layers').append(row(s));
  });
  if (state.length) {
    choose(state[0]);
    show(extentOf(state[0].bounds));
  }
  document.body.dataset.ready = 'true';
}

const update = () => { chosen.layer.setSource(source(chosen)); choose(chosen); };
$('style').addEventListener('change', (e) => { chosen.style = e.target.value; update(); });
$('time').addEventListener('change', (e) => { chosen.time = e.target.value; update(); });
$('opacity').addEventListener('input', (e) => chosen.layer.setOpacity(e.target.value / 100));
$('zoom').addEventListener('click', () => show(extentOf(chosen.bounds)));
$('close').addEventListener('click', () => { $('info').hidden = true; $('map').focus(); });
document.addEventListener('keydown', (e) => { if (e.key === 'Escape') $('info').hidden = true; });

const degrees = (v, positive, negative) => `${Math.abs(v).toFixed(5)}° ${v < 0 ? negative : positive}`;
map.on('pointermove', (e) => {
  const [lon, lat] = toLonLat(e.coordinate);
  $('position').textContent = `${degrees(lat, 'N', 'S')}  ${degrees(lon, 'E', 'W')}   ${e.coordinate.map((v) => v.toFixed(1)).join(', ')}`;
});

// The values under a point: those of a map of 3 x 3 pixels around it.
async function identify(coordinate) {
  const visible = state.filter((s) => s.layer.getVisible());
  if (!visible.length) return;
  const r = map.getView().getResolution() * 1.5;
  const [x, y] = coordinate;
  const names = visible.map((s) => s.name).join(',');
  const q = new URLSearchParams({
    SERVICE: 'WMS', VERSION: '1.3.0', REQUEST: 'GetFeatureInfo', LAYERS: names, QUERY_LAYERS: names, STYLES: '', CRS: 'EPSG:3857',
    BBOX: [x - r, y - r, x + r, y + r].join(), WIDTH: 3, HEIGHT: 3, I: 1, J: 1, INFO_FORMAT: 'application/json', FORMAT: 'image/png',
  });
  const time = visible.find((s) => s.time)?.time;
  if (time) q.set('TIME', time);
  const answer = await fetch(`wms?${q}`);
  const text = await answer.text();
  const values = $('values');
  values.replaceChildren();
  let found;
  try { found = JSON.parse(text).features; } catch { values.textContent = text.replace(/<[^>]*>/g, ' ').trim(); }
  if (found && !found.length) values.textContent = 'No layer here';
  for (const f of found ?? []) {
    const table = document.createElement('table');
    table.createCaption().textContent = f.time ? `${f.layer}, ${short(f.time)}` : f.layer;
    f.values.forEach((v, i) => {
      const tr = table.insertRow();
      const th = document.createElement('th');
      th.textContent = `band ${i + 1}`;
      tr.append(th);
      tr.insertCell().textContent = v ?? 'no data';
    });
    values.append(table);
  }
  $('info').hidden = false;
}
map.on('singleclick', (e) => identify(e.coordinate));
$('map').addEventListener('keydown', (e) => { if (e.key === 'Enter') identify(map.getView().getCenter()); });

start().catch((e) => { $('title').textContent = `The layers could not be loaded: ${e.message}`; });
