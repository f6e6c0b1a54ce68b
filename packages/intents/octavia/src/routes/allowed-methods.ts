import { LBAAS_ROUTES, OCTAVIA_ROUTES } from './every-route.ts'
import { MOUNTS, OCTAVIA_MOUNTS, type Route } from './route.ts'

/**
 * The methods that a path takes, sorted; none for a path that is none.
 * @param path below the API's prefix, without a query
 */
export function allowedMethods(path: string): readonly string[] {
  const asked = path.replace(/\/$/, '')
  const methods = new Set([
    ...methodsOf(asked, LBAAS_ROUTES, MOUNTS),
    ...methodsOf(asked, OCTAVIA_ROUTES, OCTAVIA_MOUNTS),
  ])
  // The server answers HEAD wherever it answers GET.
  return [...methods, ...(methods.has('GET') ? ['HEAD'] : [])].sort()
}

const methodsOf = (asked: string, routes: readonly Route[], mounts: readonly string[]): readonly string[] =>
  mounts.flatMap((mount) =>
    asked.startsWith(`${mount}/`)
      ? routes.filter(({ path }) => isPath(path, asked.slice(mount.length))).map(({ method }) => method)
      : [],
  )

/** Whether it is a path of this pattern, whose `:id` is anything. */
function isPath(pattern: string, asked: string): boolean {
  const parts = asked.replace(/\.json$/, '').split('/')
  const wanted = pattern.split('/')
  return (
    parts.length === wanted.length &&
    wanted.every((one, at) => (one.startsWith(':') ? parts[at] !== '' : one === parts[at]))
  )
}
