/**
 * Why a process could not start, for its operator. A wrong setting, an address that cannot be bound or a store that
 * cannot be opened is one sentence. Any other error is a bug and keeps its stack.
 */
export function startFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'ConfigError' || isUnavailable(error)) return error.message
  const { syscall, code, address, port } = error as ListenError
  const reason = syscall === 'listen' || syscall === 'bind' ? LISTEN_REASONS[code ?? ''] : undefined
  if (reason === undefined || port === undefined) return error.stack ?? error.message
  const where = address?.includes(':') === true ? `[${address}]:${port}` : `${address ?? '*'}:${port}`
  return `cannot listen on ${where}: ${reason}`
}

/**
 * Whether it is a `SpoutError` for the operator. It is recognised by name, because this package does not import the
 * model.
 */
const isUnavailable = (error: Error & { readonly kind?: unknown }): boolean =>
  error.name === 'SpoutError' && error.kind === 'unavailable'

/** The fields that Node.js adds to an error of `listen`. */
interface ListenError extends Error {
  readonly syscall?: string
  readonly code?: string
  readonly address?: string
  readonly port?: number
}

const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has that port (`ss -ltnp` names it); end it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this process may not use that port',
}
