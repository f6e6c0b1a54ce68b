import { PostgresServer, type PostgresServerOptions } from '@spout/testkit/postgres-server'
import type { PostgresSettings } from '../settings.ts'

/** How to reach a database of a test's server. */
export const settingsOf = (server: PostgresServer, database: string): PostgresSettings => ({
  servers: [{ host: server.host, port: server.port }],
  database,
  user: server.user,
  password: async () => null,
  tls: null,
})

/** A server for the tests of a file, which gives each of them a database. */
export class PostgresDatabases {
  readonly server: PostgresServer
  #made = 0

  private constructor(server: PostgresServer) {
    this.server = server
  }

  static async start(options?: PostgresServerOptions): Promise<PostgresDatabases> {
    return new PostgresDatabases(await PostgresServer.start(options))
  }

  /** The same database each time, empty again: quicker than a new one. Nobody may use it then. */
  async emptied(): Promise<PostgresSettings> {
    await this.server.sql('DROP SCHEMA IF EXISTS spout CASCADE')
    return settingsOf(this.server, 'postgres')
  }

  /** An empty database. */
  async create(): Promise<PostgresSettings> {
    const name = `test_${++this.#made}`
    await this.server.createDatabase(name)
    return settingsOf(this.server, name)
  }
}
