package gpu

// Resources are the resources that a variant of a kernel uses on a device.
type Resources struct {
	Variant   string // "proven", "narrow" or "wide"; for a special form with its name first: "radius=1 narrow"
	Registers int    // per thread, 0 if unknown
	Local     int    // bytes of local memory per thread: arrays that are indexed at run time, and spilled registers
	Shared    int    // bytes of static shared memory per block
}

// Resources returns the resources of each variant of the kernel on d, in the order in
// which launches try them. It loads the kernel.
func (k *Kernel) Resources(d *Device) ([]Resources, error) {
	if err := k.acquire(); err != nil {
		return nil, k.failed("resources of", err)
	}
	defer k.release()
	all, err := k.resources(d)
	return all, k.failed("resources of", err)
}

// resources is Resources for a kernel that is in use.
func (k *Kernel) resources(d *Device) ([]Resources, error) {
	if err := k.prepare(d); err != nil {
		return nil, err
	}
	r, err := d.load(k)
	if err != nil {
		return nil, err
	}
	var all []Resources
	for _, s := range k.special {
		forms, err := s.kernel.resources(d)
		if err != nil {
			return nil, err
		}
		for _, r := range forms {
			r.Variant = s.name + " " + r.Variant
			all = append(all, r)
		}
	}
	for i := k.first; i < len(k.info.Variants); i++ {
		v, err := r.variant(i)
		if err != nil {
			return nil, err
		}
		all = append(all, Resources{
			Variant:   k.info.Variants[i].Name,
			Registers: v.props.Registers,
			Local:     v.props.Local,
			Shared:    v.props.Shared,
		})
	}
	return all, nil
}
