import { describe, expect, test } from 'vitest'
import { type Surroundings, sightOf } from './absence.ts'

const nothing: Surroundings = { indexed: null, isHeld: false, departed: new Set(), namespaces: null }
const look = (more: Partial<Surroundings>) => sightOf('u1', 'shop/web', { ...nothing, ...more })

describe('what is known of an object with a load balancer', () => {
  test('one that is shown wants its load balancer, or not', () => {
    expect(look({ indexed: { uid: 'u1', unit: 'alone:shop/web' } })).toBe('living')
    expect(look({ indexed: { uid: 'u1', unit: null } })).toBe('left')
  })

  test('one that was shown and deleted is gone', () => {
    expect(look({ departed: new Set(['u1']) })).toBe('left')
  })

  test('one that was never shown is not known to be gone', () => {
    expect(look({})).toBe('unseen')
    expect(look({ departed: new Set(['u2']) })).toBe('unseen')
  })

  test('another one under its name does not mean that it is gone', () => {
    const indexed = { uid: 'u2', ownership: 'ours', unit: 'alone:shop/web' } as const
    expect(look({ indexed })).toBe('unseen')
    expect(look({ indexed, departed: new Set(['u1']) })).toBe('left')
  })

  test('a held object counts as present, whatever else is known', () => {
    expect(look({ isHeld: true })).toBe('held')
    expect(look({ isHeld: true, departed: new Set(['u1']) })).toBe('held')
    expect(look({ isHeld: true, namespaces: ['other'] })).toBe('held')
  })

  test('an object outside our namespaces is gone without asking', () => {
    expect(look({ namespaces: ['other'] })).toBe('left')
    expect(look({ namespaces: ['other', 'shop'] })).toBe('unseen')
  })
})
