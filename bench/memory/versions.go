package main

func init() {
	register("peers", func(r *run) error {
		found, err := r.peer("versions.py")
		if err != nil {
			return err
		}
		for name, there := range found {
			r.show(name+" is there", there, "")
		}
		return nil
	})
}
