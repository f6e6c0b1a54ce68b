import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { claimNamespace } from './namespace-claim.ts'

/** A namespace that no other test has; the claim is on its name. */
const settings = (namespace: string, instance = 'one') => ({
  instance,
  stateDirectory: `/var/lib/${instance}`,
  fabric: { namespace: `${namespace}-${process.pid}` },
})

test('a second agent is told who has the namespace, and gets it once the first has let go', async () => {
  const release = await claimNamespace(settings('held'))
  await expect(claimNamespace(settings('held', 'two'), 0)).rejects.toThrow(
    `another agent works in network namespace held-${process.pid} (process ${process.pid}, instance one, state in /var/lib/one): stop it first`,
  )
  const other = await claimNamespace(settings('free'))
  const waiting = claimNamespace(settings('held', 'two'))
  await release()
  const again = await waiting
  for (const end of [again, other]) await end()
})

test('a killed agent leaves no claim', async () => {
  const { fabric } = settings('killed')
  const holding = `require('node:net').createServer().listen(${JSON.stringify(`\0spout-agent ${fabric.namespace}`)}, () => console.log('held'))`
  const holder = spawn(process.execPath, ['-e', holding], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(holder.stdout, 'data')
    await expect(claimNamespace(settings('killed'), 0)).rejects.toThrow('it does not say which')
    const waiting = claimNamespace(settings('killed'))
    holder.kill('SIGKILL')
    await (await waiting)()
  } finally {
    holder.kill('SIGKILL')
  }
})
