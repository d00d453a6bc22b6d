select from from
