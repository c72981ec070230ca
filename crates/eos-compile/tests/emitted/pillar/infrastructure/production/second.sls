#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  components:
    second:
      kind: app
      host: h1
      runtime: container
      version: 2.1.0
      settings:
        greeting: 'say "hi"'
        port: 8080
      needs:
        database: db
        store: bucket
      volumes:
        files:
          backing: directory
          path: /srv/eos/production/second/files
          size: 2G
      secrets:
        database_password: 'secret://production/second/database_password?v=1'
