import type { Lab } from '@spout/testkit'

/** What `wrk` says. @throws Error when a request failed */
export async function wrk(
  lab: Lab,
  url: string,
  { connections, seconds, host }: { readonly connections: number; readonly seconds: number; readonly host: string },
): Promise<{ readonly perSecond: number; readonly p99Ms: number }> {
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-H', `Host: ${host}`]
  const output = await lab.must('client', ['wrk', ...flags, url])
  if (/Socket errors|Non-2xx/.test(output)) throw new Error(`${url}: ${output}`)
  const [, number = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s)/.exec(output) ?? []
  const p99Ms = Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's']
  return { perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]), p99Ms }
}
