#!yaml
# Which pillar files a minion gets. Later files win over earlier ones.
base:
  '*':
    - ignore_missing: True
    - infrastructure.common
    - hosts.*
  'environment:production':
    - match: grain
    - ignore_missing: True
    - infrastructure.production
    - infrastructure.production.*
    - operations.production.*
  'environment:staging':
    - match: grain
    - ignore_missing: True
    - infrastructure.staging
    - infrastructure.staging.*
    - operations.staging.*
