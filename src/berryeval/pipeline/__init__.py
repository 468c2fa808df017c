"""The whole job: benchmarks and providers in, a run folder and results out."""
