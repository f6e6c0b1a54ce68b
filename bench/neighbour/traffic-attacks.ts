import type { Lab } from '@spout/testkit'
import { HTTPS_PORT } from '../bed/https.ts'
import { compile, LineProgram } from '../bed/native.ts'
import type { OtherMachines } from '../bed/other-machines.ts'
import type { Attack } from './attack.ts'

/** Attacks end by themselves after this time, whatever happens to the benchmark. */
const LONGEST_SECONDS = '120'

/** The sources of a flood are elsewhere on the internet: the router sends answers to them away. */
const FORGED_SOURCES = '203.0.113.128/25'

/** Floods by `bench/programs/flood.c`: the protocol and the packets of a second. */
export const FLOODS = { 'syn-flood': ['syn', '100000'], 'million-flows': ['udp', '250000'] } as const

export const floodArgv = (
  program: string,
  name: keyof typeof FLOODS,
  address: string,
  port = '80',
): readonly string[] => [program, FLOODS[name][0], address, port, FLOODS[name][1], LONGEST_SECONDS]

export const packetsSent = (line: string): string => `${line} packets sent`

export interface Program {
  readonly name: string
  /** A program of `bench/programs`, or one of the machine's by its argument vector. */
  readonly argv: readonly string[]
  /** What it is asked for its last line; absent: the end of its input. */
  readonly ask?: string
  readonly words: (lastLine: string) => string
  /** Default: `data`. */
  readonly plane?: 'data' | 'floods'
  readonly isControl?: true
}

export const attackBy = (
  lab: Lab,
  others: OtherMachines,
  { name, argv, ask, words, plane = 'data', isControl }: Program,
): Attack => ({
  ...{ name, plane, isControl },
  begin: async () => {
    const program = new LineProgram(lab, 'client', [...others.prefix, ...argv])
    return {
      end: async () => {
        try {
          return words(await (ask === undefined ? program.finish() : program.ask(ask)))
        } finally {
          await program[Symbol.asyncDispose]()
        }
      },
    }
  },
})

/** The addresses of the attacker's own load balancers, to which each attack goes. */
export interface Targets {
  /** Balanced on the packet path. */
  readonly tcp: string
  readonly udp: string
  /** Served by the tenant's proxy. */
  readonly http: string
  /** The same with TLS; it has the certificate of s0.example.com. */
  readonly https: string
}

export async function trafficAttacks(
  lab: Lab,
  others: OtherMachines,
  { tcp, udp, http, https }: Targets,
): Promise<readonly Attack[]> {
  const flood = await compile(lab, 'flood')
  await lab.must('router', ['ip', 'route', 'add', 'blackhole', FORGED_SOURCES])
  const slow = await compile(lab, 'slow-clients')
  const burst = await compile(lab, 'request-burst')
  const http2 = await compile(lab, 'http2-flood')
  const handshakes = await compile(lab, 'tls-handshakes', ['ssl', 'crypto'])
  const framed = (line: string): string => {
    const [frames, closed] = line.split(' ')
    return `${frames} frames sent, ${closed} connections closed by the proxy`
  }
  return [
    attackBy(lab, others, {
      name: 'syn-flood',
      argv: floodArgv(flood, 'syn-flood', tcp),
      words: packetsSent,
    }),
    attackBy(lab, others, {
      name: 'million-flows',
      argv: floodArgv(flood, 'million-flows', udp),
      words: packetsSent,
    }),
    attackBy(lab, others, {
      name: 'requests-50k',
      argv: [burst, http, '80', '128', '50000', LONGEST_SECONDS],
      words: (line) => `${line} requests answered`,
    }),
    attackBy(lab, others, {
      name: 'slow-clients-4000',
      argv: [slow, http, '80', '4000', LONGEST_SECONDS],
      words: (line) => {
        const [most, opened, closed] = line.split(' ')
        return `${most} open at most, ${opened} opened, ${closed} closed by the proxy`
      },
    }),
    attackBy(lab, others, {
      name: 'tls-handshakes',
      plane: 'floods',
      argv: [handshakes, https, String(HTTPS_PORT), '1', '1', '64', '0'],
      ask: 'count',
      words: (line) => {
        const [done, failed] = line.split(' ')
        return `${done} handshakes, ${failed} failed`
      },
    }),
    ...(['reset', 'continuation'] as const).map((mode) =>
      attackBy(lab, others, {
        name: `http2-${mode}`,
        plane: 'floods',
        argv: [http2, mode, http, '80', '64', LONGEST_SECONDS],
        words: framed,
      }),
    ),
  ]
}
