/**
 * Measures what it costs to replicate a flow to another node, and how long it takes. `spout-flows` and conntrackd take
 * turns on the same two nodes. A client opens TCP connections at a steady rate through node1, which translates them.
 * Then they must be in the kernel of node2. Prints a JSON object for each round and program; needs root.
 *
 * node packages/dataplane/bench/flow-replication.ts FLOWS RATE ROUNDS
 */
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { execOk } from '@spout/sys'
import { waitFor } from '@spout/testkit'
import { Arrangement } from '../src/testing/arrangement.ts'
import { FlowNode, VIP } from '../src/testing/flows/flow-node.ts'
import { Conntrackd, fetchConntrackd, type Mode } from './conntrackd.ts'
import { FlowEvents } from './flow-events.ts'

const LINK = 'uplink'
const PROGRAMS = ['spout-flows', 'ftfw', 'notrack'] as const
type Program = (typeof PROGRAMS)[number]

const [flows, rate, rounds] = process.argv.slice(2).map(Number)
if (flows === undefined || rate === undefined || rounds === undefined)
  throw new Error('usage: flow-replication.ts FLOWS RATE ROUNDS')
const conntrackd = await fetchConntrackd()

/** Processor time of a process and its threads, in microseconds. */
async function processorUs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const spent = await Promise.all(
    threads.map(async (thread) =>
      Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ')[0]),
    ),
  )
  return spent.reduce((sum, ns) => sum + ns / 1_000, 0)
}

/** The client's program, driven by lines. */
function startClient(namespace: string) {
  const program = path.join(import.meta.dirname, 'open_flows.py')
  const child = spawn('ip', ['netns', 'exec', namespace, 'python3', program, VIP, '80'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    say: async (line: string): Promise<string> => {
      child.stdin.write(`${line}\n`)
      return (await answers.next()).value ?? ''
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

interface Running extends AsyncDisposable {
  /** Process ids on the node where flows begin, and on the node that they are replicated to. */
  readonly pids: readonly [number, number]
}

async function startSpout(one: FlowNode, two: FlowNode): Promise<Running> {
  for (const node of [one, two]) {
    node.configure()
    await node.start()
  }
  // The peers have met, so their first exchange is not measured.
  await waitFor(async () => [one, two].every((node) => (node.state()?.peers[0]?.received ?? 0) > 0), {
    what: 'the peers to meet',
  })
  return {
    pids: [one.state()!.pid, two.state()!.pid],
    [Symbol.asyncDispose]: async () => {
      await one.stop()
      await two.stop()
    },
  }
}

async function startConntrackd(lab: Arrangement, mode: Mode): Promise<Running> {
  const stack = new AsyncDisposableStack()
  const ends = { one: { own: '10.9.0.1', peer: '10.9.0.2' }, two: { own: '10.9.0.2', peer: '10.9.0.1' } }
  const start = async (place: string, addresses: { readonly own: string; readonly peer: string }) =>
    stack.use(
      await Conntrackd.start({
        executable: conntrackd,
        namespace: lab.namespace(place),
        mode,
        link: LINK,
        ...addresses,
      }),
    )
  const [one, two] = [await start('node1', ends.one), await start('node2', ends.two)]
  return { pids: [one.pid, two.pid], [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const lab = await Arrangement.create()
try {
  await using one = await FlowNode.create(lab, 1, 'spout-flows')
  await using two = await FlowNode.create(lab, 2, 'spout-flows')
  await one.own()
  // conntrackd takes the name fab0 for the beginning of an IPv6 address.
  for (const node of [one, two]) await node.ip(`link property add dev fab0 altname ${LINK}`)
  await using client = startClient(lab.namespace('client'))

  async function measure(program: Program): Promise<object> {
    await using running = await (program === 'spout-flows' ? startSpout(one, two) : startConntrackd(lab, program))
    await using began = new FlowEvents(lab.namespace('node1'), 'UPDATES')
    await using arrived = new FlowEvents(lab.namespace('node2'), 'NEW')
    const before = await Promise.all(running.pids.map(processorUs))
    const opened = Number(await client.say(`open ${flows} ${rate}`))
    // Some events may not be seen, so the wait has an end.
    const isWhole = async () => arrived.seenMs.size >= opened && began.seenMs.size >= opened
    await waitFor(isWhole, { what: 'all flows', timeoutMs: 5_000 }).catch(() => {})
    const spent = await Promise.all(running.pids.map(processorUs))
    const delaysMs = [...arrived.seenMs].flatMap(([port, atMs]) => {
      const beganMs = began.seenMs.get(port)
      return beganMs === undefined ? [] : [atMs - beganMs]
    })
    const inKernel = Number(await execOk(['ip', 'netns', 'exec', lab.namespace('node2'), 'conntrack', '-C']))
    const [fromUs, toUs] = spent.map((us, index) => (us - before[index]!) / opened)
    return { program, opened, arrived: arrived.seenMs.size, inKernel, fromUs, toUs, delaysMs }
  }

  // The first round warms all of them up.
  for (let round = -1; round < rounds; round++)
    for (const program of PROGRAMS) {
      const result = await measure(program)
      if (round >= 0) console.log(JSON.stringify(result))
      await client.say('reset')
      for (const node of [one, two]) await node.exec('conntrack', '-F')
    }
} finally {
  await lab[Symbol.asyncDispose]()
}
