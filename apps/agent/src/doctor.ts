import { type NodePlace, nodeFindings, savedGroup } from '@spout/agent/doctor'
import { doctorArguments, needOf, writtenFindings } from '@spout/runtime/findings'
import { NativeHelper } from '@spout/sys'
import type { AgentConfig } from './config.ts'
import { readFabricRecord } from './fabric-record.ts'
import { composeFabric } from './group-fabric.ts'
import { linkUrlsOf } from './link-urls.ts'
import { listenAddress } from './listen-address.ts'
import { readSettings } from './settings.ts'
import { fabricFile, identityFile, stateFile } from './state-files.ts'

/** Where the packages put the settings. */
const SETTINGS = '/etc/spout/agent.yaml'
const SILENT = { debug: () => {}, info: () => {}, warn: () => {} }

/** `spout-agent doctor`. @param argv what follows the word. @returns the exit code */
export async function doctor(argv: readonly string[]): Promise<number> {
  const asked = doctorArguments(argv, 'spout-agent', SETTINGS)
  if (asked.wrong !== null) {
    process.stderr.write(`spout-agent: ${asked.wrong}\n`)
    return 2
  }
  if (asked.usage !== null) {
    process.stdout.write(asked.usage)
    return 0
  }
  const settings = readSettings(asked.settings)
  if (typeof settings === 'number') return settings
  if (settings.print !== null) return 2
  const helper = await NativeHelper.start({ path: settings.config.helper.path, log: SILENT })
  try {
    const findings = await nodeFindings(await placeOf(settings.config, helper))
    const colour = process.stdout.isTTY === true && !process.env.NO_COLOR
    process.stdout.write(writtenFindings(findings, { ...asked, colour }))
    const need = needOf(findings)
    if (need === null) return 0
    process.stderr.write(`spout-agent: ${need}\n`)
    return 1
  } finally {
    await helper.close()
  }
}

async function placeOf(config: AgentConfig, helper: NativeHelper): Promise<NodePlace> {
  const { stateDirectory, haproxy, vrrp, bgp, flows, metrics, fabric } = config
  return {
    config: {
      instance: config.instance,
      fabricInterface: (await composeFabric(config, await readFabricRecord(fabricFile(config)))).interface,
      rootNamespace: fabric.namespace || null,
      segments: config.segments,
      hostSegments: config.hostSegments,
    },
    helper,
    group: await savedGroup(stateFile(config)),
    stateFile: stateFile(config),
    identityFile: identityFile(config),
    enrolmentTokenFile: config.server.enrolmentTokenFile,
    linkUrls: linkUrlsOf(config),
    directories: {
      ...{ state: stateDirectory, haproxy: haproxy.runDirectory },
      ...{ vrrp: vrrp.directory, bgp: bgp.directory, flows: flows.directory },
    },
    programs: { haproxy: haproxy.executable, keepalived: vrrp.executable, bird: bgp.executable },
    bgpPort: bgp.listenPort,
    metricsPort: metrics.listen === '' ? null : listenAddress(metrics.listen).port,
    ownProgram: process.argv[1] ?? '',
    now: () => new Date(),
  }
}
