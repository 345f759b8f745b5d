"""Measurements that the `ko bench` commands run: ratios, side by side in one run, never bare times."""
