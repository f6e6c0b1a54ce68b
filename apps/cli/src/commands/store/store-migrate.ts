import { type Command, InvalidArgumentError } from 'commander'
import type { CommandContext } from '../connections/context.ts'
import type { MigrateOptions } from './migrate.ts'

/** Adds `spout store migrate`, which works on files and databases, not on a control plane. */
export function addStoreMigrate(program: Command, context: CommandContext): void {
  program
    .command('store')
    .description('the store of a control plane that is stopped')
    .command('migrate')
    .description('copies a SQLite store into an empty one; the control plane must be stopped')
    .requiredOption('--from <file>', 'the SQLite store, such as /var/lib/spout/spout.db; it is not changed')
    .option('--server <server>', 'PostgreSQL: host, host:port, [IPv6]:port, or the directory of a UNIX socket', server)
    .option('--database <name>', 'the database', 'spout')
    .option('--user <name>', 'its user', 'spout')
    .option('--password-file <file>', 'a file with the password in one line')
    .option('--ca-file <file>', 'PEM: the authorities of the server’s certificate; those of the system if left out')
    .option('--no-tls', 'plain text, such as over loopback')
    .option('--kubeconfig <file>', 'instead of a server: the cluster whose API shall hold the store')
    .option('--namespace <name>', 'of the cluster; that of the kubeconfig if left out')
    .option('--name <name>', 'of the store in the namespace', 'spout')
    .action(async (options: MigrateOptions) => {
      // Loaded only here: other commands start faster without stores.
      const { migrate } = await import('./migrate.ts')
      context.write(await migrate(options))
    })
}

function server(text: string): string {
  if (text === '') throw new InvalidArgumentError('is empty')
  return text
}
