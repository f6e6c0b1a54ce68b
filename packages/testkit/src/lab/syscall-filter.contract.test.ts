import { afterAll, beforeAll, expect, it } from 'vitest'
import { must, run } from './run.ts'
import { SyscallFilter } from './syscall-filter.ts'

let filter: SyscallFilter
beforeAll(async () => {
  filter = await SyscallFilter.create(['@system-service', '~@resources', 'nice'])
})
afterAll(() => filter?.[Symbol.dispose]())

it('allows the calls in systemd’s lists, and removes those that a later list denies', async () => {
  expect(filter.allowed).toContain('openat')
  expect(filter.allowed).not.toContain('setpriority')
  expect(filter.allowed).not.toContain('ptrace')
  expect(await must([...filter.within, 'cat', '/proc/self/status'])).toMatch(/^Seccomp:\t2$/m)
})

it('anything else fails with EPERM, in children too', async () => {
  const renice = ['sh', '-c', 'renice -n 5 -p $$; true']
  expect((await run([...filter.within, ...renice])).stderr).toContain('Operation not permitted')
  expect((await run(renice)).stderr).not.toContain('Operation not permitted')
})
