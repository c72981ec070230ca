#!yaml
usual: &usual
  kind: memcached
  host: local
  runtime: container
  version: "1.6.31"
  tier: dev
eos:
  components:
    first:
      <<: *usual
      settings: &settings
        port: 11211
    second:
      <<: *usual
      tier: production
      settings:
        <<: *settings
        port: 11212
