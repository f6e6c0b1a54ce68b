import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { checkDomainConfig } from '../domain/domain-config.ts'
import { labInstance, labPrefix } from './lab-names.ts'

const SAY = `
  const { parentPort } = require('node:worker_threads')
  import(${JSON.stringify(new URL('lab-names.ts', import.meta.url).href)}).then(({ labInstance, labPrefix }) =>
    parentPort.postMessage([labPrefix(), labPrefix(), labInstance(), labInstance()]))`

/** The names of the labs of one test file. */
async function ofAnotherThread(): Promise<readonly string[]> {
  const worker = new Worker(SAY, { eval: true })
  const [names] = (await once(worker, 'message')) as [readonly string[]]
  await worker.terminate()
  return names
}

describe('labs of test files that run side by side', () => {
  it('have names of their own', async () => {
    const own = [labPrefix(), labPrefix(), labInstance(), labInstance()]
    const names = [...own, ...(await Promise.all([ofAnotherThread(), ofAnotherThread()])).flat()]
    expect(new Set(names).size).toBe(names.length)
    // No namespace's name is the beginning of another's.
    for (const name of names) expect(names.filter((other) => `${other}-`.startsWith(`${name}-`))).toEqual([name])
  })

  it('have instances that an agent may have', () => {
    const instance = labInstance()
    expect(checkDomainConfig({ instance, fabricInterface: 'fab0', segments: {} })).toMatchObject({ instance })
  })
})
