"""Run declarations: what somebody says that a run is, beside the evidence that it leaves.

A BenchmarkRun (v1alpha1) or a workload spec is judged by rules (`judged`), put into the bundles of the evidence that it lies
with (`placing`), and lands as rows (`rows`). A declaration never keeps evidence out: a broken one is reported, and
says nothing.
"""
