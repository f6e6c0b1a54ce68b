/**
 * 100 certificates of a listener replaced one after the other while clients make new connections all the time: from
 * before the PATCH until a client is shown the new certificate.
 */
import { callApi, startFastMember } from '@spout/testkit'
import {
  CERTIFICATES_OF_LISTENER,
  createHttps,
  fingerprint,
  HTTPS_PORT,
  issueNames,
  storeCertificates,
} from './bed/https.ts'
import { compile, LineProgram } from './bed/native.ts'
import { proxyProcesses } from './bed/processes.ts'
import { withSpout } from './bed/spout-bed.ts'
import { percentile, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MS = 50
const CLIENTS = 4
const PAUSE_US = 2000
/** Not counted: the first are slower. */
const WARM_UP = 10
const options = benchOptions()
const COUNT = options.quick ? 20 : CERTIFICATES_OF_LISTENER

// One node: under load an address may move, and that breaks handshakes for another reason.
await withSpout({ nodes: ['node1'], members: false }, async (bed) => {
  const { lab, access, snat } = bed
  for (const n of [1, 2]) await startFastMember(lab, `tenant-b-member${n}`)
  const ids = await storeCertificates(bed, snat, await issueNames(lab, COUNT))
  const address = await createHttps(bed, snat, ids)
  const replacements = [...(await issueNames(lab, WARM_UP)), ...(await issueNames(lab, COUNT))]
  const program = await compile(lab, 'tls-handshakes', ['ssl', 'crypto'])
  const argv = [program, address, HTTPS_PORT, CERTIFICATES_OF_LISTENER, COUNT, CLIENTS, PAUSE_US].map(String)
  await using clients = new LineProgram(lab, 'client', argv)
  const before = await proxyProcesses(lab)
  const shownMs: number[] = []
  const patchMs: number[] = []
  for (const [turn, issued] of replacements.entries()) {
    const n = turn < WARM_UP ? turn : turn - WARM_UP
    const body = { chain: issued.certificate, key: issued.key }
    const startedNs = process.hrtime.bigint()
    const shown = clients.ask(`until ${n} ${fingerprint(issued)}`)
    await callApi(access.endpoint, snat.token, 'PATCH', `/certificates/${ids[n]}`, body)
    const patchedNs = process.hrtime.bigint()
    const shownNs = BigInt(await shown)
    if (shownNs < 0n) throw new Error(`the new certificate of s${n}.example.com was never shown`)
    if (turn < WARM_UP) continue
    shownMs.push(Number(shownNs - startedNs) / 1e6)
    patchMs.push(Number(patchedNs - startedNs) / 1e6)
  }
  const [handshakes = 0, failed = Number.NaN, tookNs = Number.NaN] = (await clients.ask('count')).split(' ').map(Number)
  const reloads = (await proxyProcesses(lab)).filter((process) => !before.includes(process)).length
  const ours = { ...spread(shownMs), failedHandshakes: failed, reloads }
  printRow(
    {
      name: 'tls-change',
      ours,
      peer: null,
      comparedWith: 'nothing: the bound is absolute',
      ratio: null,
      goal: `100 certificates replaced under load: each shown within ${GOAL_MS} ms, 0 failed handshakes`,
      pass: ours.maxMs <= GOAL_MS && failed === 0,
      detail: {
        certificates: COUNT,
        warmUpChanges: WARM_UP,
        handshakes,
        // What a busy machine adds to each change, too.
        meanHandshakeMs: (CLIENTS * tookNs) / 1e6 / handshakes - PAUSE_US / 1000,
        clients: CLIENTS,
        patchP50Ms: percentile(patchMs, 0.5),
        within: `${shownMs.filter((ms) => ms <= GOAL_MS).length} of ${COUNT} within ${GOAL_MS} ms`,
      },
    },
    options,
  )
})
