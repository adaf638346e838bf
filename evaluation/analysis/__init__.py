"""What a finished run says beside its rates: decoding grids, drift, claim calibration, signals, retrieval's part."""
