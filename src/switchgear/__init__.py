"""The shared vocabulary: values, errors and the wire. Floor 0: imports none of the other packages."""
