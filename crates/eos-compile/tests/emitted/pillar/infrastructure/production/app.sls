#!yaml
# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.
eos:
  components:
    app:
      kind: app
      host: h2
      runtime: container
      version: 2.1.0
      features:
        - public
      settings:
        port: 8080
      needs:
        database: db
        store: bucket
        route: edge
      volumes:
        files:
          backing: directory
          path: /srv/eos/production/app/files
          size: 2G
      secrets:
        database_password: 'secret://production/app/database_password?v=1'
