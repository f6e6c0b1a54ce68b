import type { Lab } from '@spout/testkit'

/**
 * Requests a second over kept-alive connections from the client.
 * @param host the name that is asked for. Default: the address
 * @throws Error when one failed
 */
export async function requestsPerSecond(lab: Lab, url: string, seconds: number, host?: string): Promise<number> {
  const named = host === undefined ? [] : ['-H', `Host: ${host}`]
  const output = await lab.must('client', ['wrk', '-t1', '-c32', `-d${seconds}s`, ...named, url])
  if (/Socket errors|Non-2xx/.test(output)) throw new Error(`${url}: ${output}`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
}

/** Gbit/s of one TCP stream from the client. */
export async function gigabitsPerSecond(lab: Lab, address: string, port: number, seconds: number): Promise<number> {
  const output = await lab.must('client', ['iperf3', '-J', '-c', address, '-p', String(port), '-t', String(seconds)])
  const { end } = JSON.parse(output) as { end: { sum_received: { bits_per_second: number } } }
  return end.sum_received.bits_per_second / 1e9
}
