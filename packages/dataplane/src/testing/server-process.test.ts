import { once } from 'node:events'
import { expect, test } from 'vitest'
import { startServers } from './server-process.ts'

const program = (script: string) => startServers([process.execPath, '-e', script])

test('a program that is ready goes on', async () => {
  const child = await program("console.log('ready'); setInterval(() => {}, 1000)")
  expect(child.exitCode).toBeNull()
  child.kill('SIGKILL')
  await once(child, 'close')
})

test('one that ends before is an error at once, with its own words', async () => {
  await expect(program("console.error('no such port'); process.exitCode = 3")).rejects.toThrow(/\(3\): no such port$/)
  await expect(program("process.kill(process.pid, 'SIGKILL')")).rejects.toThrow('(SIGKILL)')
  await expect(startServers(['/nonexistent/program'])).rejects.toThrow('ENOENT')
})
