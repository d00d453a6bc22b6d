"""What a project and its builds look like to others: the documentation site, dbt artifacts, OpenLineage events."""
