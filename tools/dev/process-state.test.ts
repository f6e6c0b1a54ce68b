import { expect, it } from 'vitest'
import { leftBehind, processState } from './process-state.ts'

const before = processState()

it('a file that leaves the process as it was leaves nothing behind', () =>
  expect(leftBehind(before, processState())).toEqual([]))

it('names each variable, listener, function and global that differs, and no value', () => {
  const after = {
    ...before,
    environment: { ...before.environment, SPOUT_SECRET: 'hidden', PATH: undefined },
    umask: 0o777,
    listeners: { ...before.listeners, SIGUSR2: 1 },
    functions: { ...before.functions, setTimeout: () => {} },
    globals: [...before.globals, 'stubbed'],
  }
  expect(leftBehind(before, after)).toEqual([
    'umask',
    'environment: PATH',
    'environment: SPOUT_SECRET',
    'listeners: SIGUSR2',
    'functions: setTimeout',
    'globals: stubbed',
  ])
  expect(leftBehind(before, { ...before, directory: '/', title: 'other' })).toEqual(['directory', 'title'])
})
