import type { Lab } from '@spout/testkit'

/** Answer of the lab's members. */
export interface Answer {
  readonly member: string
  /** The client address that the member saw. */
  readonly from: string
  readonly forwardedFor?: string
}

/** Sends requests from the client, each on a connection of its own. A failed one is null. */
export async function request(lab: Lab, address: string, times: number): Promise<readonly (Answer | null)[]> {
  // One process for all: starting curl each time would dominate the measurement.
  const url = `http://${address}/`
  const { stdout } = await lab.run('client', [
    'curl',
    '-s',
    '--no-keepalive',
    '--connect-timeout',
    '1',
    '-m',
    '2',
    '-H',
    'Connection: close',
    ...Array<string>(times).fill(url),
  ])
  const answers = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Answer)
  return [...answers, ...Array<null>(Math.max(0, times - answers.length)).fill(null)]
}

/** `member1 6, member2 4`. */
export function describeAnswers(answers: readonly (Answer | null)[]): string {
  const counts = new Map<string, number>()
  for (const answer of answers)
    counts.set(answer?.member ?? 'no answer', (counts.get(answer?.member ?? 'no answer') ?? 0) + 1)
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([member, count]) => `${member} ${count}`)
    .join(', ')
}
