/**
 * Compares the native helper with `nft -f` in the same run, for two loads: a bulk load of 640,000 map elements, and one
 * changed element on top of them. Prints a JSON object per line; needs root.
 *
 * node packages/sys/bench/nft-loads.ts <path of spout-helper>
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetns, deleteNetns, NativeHelper, netnsPath, runIn } from '../src/index.ts'

const COUNT = 640_000
const HELPER_CHANGES = 5_000
const NFT_CHANGES = 100
const SKELETON = 'add table ip lb; add map ip lb members { type mark . mark : ipv4_addr . inet_service; }\n'
const RECORD = { set: 'members', keyBytes: 8, dataBytes: 8 } as const

const path = process.argv[2]
if (path === undefined) throw new Error('usage: nft-loads.ts <path of spout-helper>')
const quiet = { debug: () => undefined, info: () => undefined, warn: console.error }
const netns = `spt${process.pid}-bench`
const directory = await mkdtemp(join(tmpdir(), 'spt-bench-'))
const helper = await NativeHelper.start({ path, log: quiet })

const address = (i: number): number => 0x0a000000 + i
const text = (i: number, port: number): string => {
  const value = address(i)
  const dotted = [24, 16, 8, 0].map((shift) => (value >> shift) & 255).join('.')
  return `${i >> 6} . ${i & 63} : ${dotted} . ${port}`
}

function records(first: number, count: number, port: number): Buffer {
  const bytes = Buffer.alloc(count * 16)
  for (let i = 0; i < count; i++) {
    bytes.writeUInt32LE((first + i) >> 6, i * 16)
    bytes.writeUInt32LE((first + i) & 63, i * 16 + 4)
    bytes.writeUInt32BE(address(first + i), i * 16 + 8)
    bytes.writeUInt16BE(port, i * 16 + 12)
  }
  return bytes
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN
const round = (ms: number): number => Number(ms.toPrecision(3))

function report(name: string, ours: number, peer: number, more: object): void {
  console.log(JSON.stringify({ name, oursMs: round(ours), peerMs: round(peer), ratio: round(peer / ours), ...more }))
}

async function freshTable(): Promise<void> {
  await deleteNetns(netns)
  await createNetns(netns)
  await helper.nftText({ netns: netnsPath(netns), text: SKELETON })
}

const nft = (file: string) => runIn(netns, ['nft', '-f', file], { timeoutMs: 120_000 })
const table = { netns: netnsPath(netns), family: 'ip', table: 'lb' } as const

try {
  const bulkFile = join(directory, 'bulk.nft')
  const listed = Array.from({ length: COUNT }, (_, i) => text(i, 8080)).join(', ')
  await writeFile(bulkFile, `add element ip lb members { ${listed} }\n`)
  await freshTable()
  const nftBulk = await time(() => nft(bulkFile))
  await freshTable()
  const elements = records(0, COUNT, 8080)
  const ourBulk = await time(() => helper.nftBatch({ ...table, changes: [{ ...RECORD, do: 'add', elements }] }))
  report('nft-bulk-load', ourBulk, nftBulk, { elements: COUNT })

  const ours: number[] = []
  for (let i = 0; i < HELPER_CHANGES; i++) {
    const number = (i * 7919) % COUNT
    const changes = [
      { ...RECORD, do: 'delete', elements: records(number, 1, 0) },
      { ...RECORD, do: 'add', elements: records(number, 1, 9090) },
    ] as const
    ours.push(await time(() => helper.nftBatch({ ...table, changes })))
  }
  const peer: number[] = []
  const changeFile = join(directory, 'change.nft')
  for (let i = 0; i < NFT_CHANGES; i++) {
    const number = COUNT - 1 - i
    const key = text(number, 0).split(' : ')[0]
    const lines = [`delete element ip lb members { ${key} }`, `add element ip lb members { ${text(number, 9090)} }`]
    await writeFile(changeFile, `${lines.join('\n')}\n`)
    peer.push(await time(() => nft(changeFile)))
  }
  ours.sort((a, b) => a - b)
  peer.sort((a, b) => a - b)
  report('nft-one-change-p50', quantile(ours, 0.5), quantile(peer, 0.5), { loaded: COUNT, changes: HELPER_CHANGES })
  report('nft-one-change-p99', quantile(ours, 0.99), quantile(peer, 0.99), { loaded: COUNT, changes: HELPER_CHANGES })
} finally {
  await helper.close()
  await deleteNetns(netns)
  await rm(directory, { recursive: true })
}
