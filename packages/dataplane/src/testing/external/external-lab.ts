import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExternalDriver } from '../../drivers/external/external-driver.ts'
import type { DriverLab } from '../driver-conformance.ts'
import { silent } from '../lab-node.ts'
import { nftablesLab } from '../nftables/nftables-lab.ts'
import { ServedDriver } from './served-driver.ts'

/** A packet path in the lab of nftables that the agent reaches by a socket. */
export async function externalLab(): Promise<DriverLab> {
  const directory = await mkdtemp(join(tmpdir(), 'spt-driver-'))
  const lab = await nftablesLab()
  let served: ServedDriver | null = null
  return {
    ...lab,
    restart: async () => {
      await served?.[Symbol.asyncDispose]()
      const driver = await lab.restart()
      served = await ServedDriver.listen(driver, join(directory, 'driver'))
      return new ExternalDriver({
        ...{ name: 'external', agent: 'node1', socket: served.socket, features: [...driver.features], log: silent },
        netns: (domain) => `/run/netns/unused-${domain}`,
      })
    },
    end: async () => {
      await served?.[Symbol.asyncDispose]()
      await lab.end()
      await rm(directory, { recursive: true })
    },
  }
}
