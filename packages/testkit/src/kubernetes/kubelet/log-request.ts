/** What the API server asks for by `/containerLogs/NAMESPACE/POD/CONTAINER`. */
export interface LogRequest {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** Unix milliseconds; null for the whole log. */
  readonly sinceMs: number | null
  /** The last lines alone; null for all. */
  readonly tailLines: number | null
}

/** Options that change nothing here. */
const WITHOUT_EFFECT: readonly string[] = ['stream', 'insecureSkipTLSVerifyBackend']

/** @returns null for another path @throws Error naming an option that the test bed does not know */
export function readLogRequest(url: URL, nowMs: number): LogRequest | null {
  const [, root, namespace, pod, container, ...rest] = url.pathname.split('/').map(decodeURIComponent)
  if (root !== 'containerLogs' || !namespace || !pod || !container || rest.length > 0) return null
  let sinceMs: number | null = null
  let tailLines: number | null = null
  for (const [name, value] of url.searchParams) {
    if (name === 'sinceTime') sinceMs = Date.parse(value)
    else if (name === 'sinceSeconds') sinceMs = nowMs - Number(value) * 1000
    else if (name === 'tailLines') tailLines = Number(value)
    else if (!WITHOUT_EFFECT.includes(name) && value !== 'false')
      throw new Error(`${name}: the logs of the test bed have no such option`)
  }
  return { namespace, pod, container, sinceMs, tailLines }
}

/** The last `count` lines of a text. */
export const lastLines = (text: Buffer, count: number): Buffer => {
  let from = text.at(-1) === 0x0a ? text.length - 1 : text.length
  for (let left = count; left > 0 && from >= 0; left--) from = from === 0 ? -1 : text.lastIndexOf(0x0a, from - 1)
  return text.subarray(count === 0 ? text.length : from + 1)
}
