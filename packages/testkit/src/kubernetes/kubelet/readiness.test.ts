import { describe, expect, it } from 'vitest'
import type { Container } from '../objects.ts'
import { ask, Readiness } from './readiness.ts'

const after = (probe: object, outcomes: readonly boolean[]): readonly boolean[] => {
  const readiness = new Readiness(probe)
  return outcomes.map((outcome) => {
    readiness.note(outcome)
    return readiness.ready
  })
}

describe('a readiness probe', () => {
  it('needs one success or three failures in a row by default', () => {
    expect(after({}, [true, false, false, true, false, false, false])).toEqual([
      ...[true, true, true, true],
      ...[true, true, false],
    ])
    expect(after({ successThreshold: 2, failureThreshold: 1 }, [true, true, false])).toEqual([false, true, false])
  })

  it('starts from nothing with a new process', () => {
    const readiness = new Readiness({ successThreshold: 2 })
    readiness.note(true)
    readiness.reset()
    readiness.note(true)
    expect(readiness.ready).toBe(false)
  })

  it('refuses unsupported probes by name', () => {
    const container: Container = { name: 'web', image: 'web', ports: [{ name: 'http', containerPort: 8080 }] }
    expect(() => ask(container, '127.0.0.1', {})).toThrow('container web: readinessProbe: only httpGet and tcpSocket')
    expect(() => ask(container, '127.0.0.1', { tcpSocket: { port: 'https' } })).toThrow('no port is named https')
  })
})
