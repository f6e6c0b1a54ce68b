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

export interface BulkResult {
  readonly gigabitsPerSecond: number
  /**
   * By the processor time of both ends. It has what the kernel does for their packets on the way, unless threads of its own
   * do it. On a machine that others use it says more than the time that passed.
   */
  readonly gigabitsPerCpuSecond: number
}

/** What is used of it. With an error, its exit code is 0, too. */
interface IperfResult {
  readonly end: {
    readonly sum_received?: { readonly bits_per_second: number }
    readonly cpu_utilization_percent: { readonly host_total: number; readonly remote_total: number }
  }
  readonly error?: string
}

/** One TCP stream from the client, or to it. @throws Error when it did not go on to its end */
export async function bulkTransfer(
  lab: Lab,
  address: string,
  port: number,
  seconds: number,
  direction: 'from client' | 'to client' = 'from client',
): Promise<BulkResult> {
  const reversed = direction === 'to client' ? ['-R'] : []
  const argv = ['iperf3', '-J', '-c', address, '-p', String(port), '-t', String(seconds), ...reversed]
  const { end, error } = JSON.parse(await lab.must('client', argv)) as IperfResult
  if (end.sum_received === undefined) throw new Error(`${address}, ${direction}: ${error ?? 'iperf3 says nothing'}`)
  const gigabitsPerSecond = end.sum_received.bits_per_second / 1e9
  const { host_total, remote_total } = end.cpu_utilization_percent
  return { gigabitsPerSecond, gigabitsPerCpuSecond: (100 * gigabitsPerSecond) / (host_total + remote_total) }
}

/** Gbit/s of one TCP stream from the client. */
export const gigabitsPerSecond = async (lab: Lab, address: string, port: number, seconds: number): Promise<number> =>
  (await bulkTransfer(lab, address, port, seconds)).gigabitsPerSecond
