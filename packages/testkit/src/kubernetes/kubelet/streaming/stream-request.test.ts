import { describe, expect, it } from 'vitest'
import { readStreamRequest } from './stream-request.ts'

const read = (path: string) => readStreamRequest(new URL(path, 'https://node/'))

describe('a request for streams', () => {
  it('is a command with the streams that are asked for', () => {
    expect(read('/exec/shop/web-1/web?command=sh&command=-c&command=a%20b&input=1&output=1')).toEqual({
      ...{ kind: 'exec', namespace: 'shop', pod: 'web-1', container: 'web', command: ['sh', '-c', 'a b'] },
      streams: new Set(['error', 'stdin', 'stdout']),
    })
    expect(read('/exec/shop/web-1/web?command=ls&error=1&output=1&tty=0')).toMatchObject({
      streams: new Set(['error', 'stdout', 'stderr']),
    })
  })

  it('is the forwarding of ports', () => {
    expect(read('/portForward/shop/web-1')).toEqual({ kind: 'forward', namespace: 'shop', pod: 'web-1' })
  })

  it('is none with another path, and refused with a terminal or without a command', () => {
    for (const path of ['/exec/shop/web-1', '/portForward/shop', '/portForward/shop/web-1/web', '/attach/a/b/c'])
      expect(read(path)).toBeNull()
    expect(() => read('/exec/shop/web-1/web?command=sh&tty=1')).toThrow('tty: ')
    expect(() => read('/exec/shop/web-1/web')).toThrow('command: ')
  })
})
