"""Write-once objects in a folder, in S3 or behind an fsspec URL."""
