"""Reports: one file for engineers, product people or partners, whose published figures `wh verify` checks against their publications."""
