select raw_path from evidence_bundle
