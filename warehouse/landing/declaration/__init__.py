"""Run declarations: what somebody says that a run is, beside the evidence that it leaves.

A BenchmarkRun (v1alpha1) or a workload spec is judged by rules (`judged`), put into the bundles of the evidence that it lies
with (`placing`), and lands as rows (`rows`). A declaration never stands in the evidence's way: a broken one is told, and
says nothing.
"""
