import { describe, expect, it } from 'vitest'
import { checkedText, lineOfField } from './checked-text.ts'

const TEXT = `name: shop
listeners:
  - protocol: http
    port: 80
    defaultPool: web
pools:
  - name: web
    protocol: http
    monitor:
      type: http
    members:
      - address: 10.0.0.11
        port: 8080
`

describe('checkedText', () => {
  it('takes a document whose defaults are left out', () => {
    expect(checkedText(TEXT)).toMatchObject({ fault: null, document: { name: 'shop', pools: [{ name: 'web' }] } })
  })

  it('names the line and the reason of what is wrong', () => {
    const fault = (from: string, to: string) => checkedText(TEXT.replace(from, to)).fault
    expect(fault('port: 8080', 'port: 80800')).toEqual({
      line: 13,
      reason: 'Field pools[0].members[0].port: must be at most 65535',
    })
    expect(fault('    port: 80\n', '')).toEqual({ line: 3, reason: 'Field listeners[0].port is required' })
    expect(fault('name: shop', 'nmae: shop')?.reason).toBe('Field nmae is not known here: did you mean name?')
    expect(fault('    port: 80\n', '    prt: 80\n')).toEqual({
      line: 4,
      reason: 'Field listeners[0].prt is not known here: did you mean port?',
    })
    expect(fault('10.0.0.11', '127.0.0.1')?.line).toBe(12)
  })

  it('names the line where a pool is named that is not there', () => {
    expect(checkedText(TEXT.replace('defaultPool: web', 'defaultPool: wbe')).fault).toEqual({
      line: 5,
      reason: 'Field listeners[0].defaultPool: Pool wbe not found: did you mean web?',
    })
    const byId = TEXT.replace('defaultPool: web', 'defaultPoolId: 7f1b4c1e-0000-4000-8000-000000000001')
    expect(checkedText(byId).fault?.line).toBe(5)
    const stored = { id: '7f1b4c1e-0000-4000-8000-000000000001', name: 'web', protocol: 'http' }
    expect(checkedText(byId, [stored]).fault).toBeNull()
  })

  it('names the line of what is no YAML', () => {
    expect(checkedText('name: shop\npools: [').fault?.line).toBe(2)
    expect(checkedText('name: "shop').fault).not.toBeNull()
  })

  it('refuses aliases, which could make a short text a very long one', () => {
    expect(checkedText('name: &a shop\ndescription: *a').fault?.reason).toContain('aliases')
  })

  it('refuses what is no object', () => {
    for (const text of ['', 'shop', '- 1']) expect(checkedText(text).fault).not.toBeNull()
  })
})

it('finds the line of a field that the server refused, or of the part around it', () => {
  expect(lineOfField(TEXT, 'pools[0].members[0].address')).toBe(12)
  expect(lineOfField(TEXT, 'pools[0].tls.minVersion')).toBe(7)
  expect(lineOfField(TEXT, 'nothing')).toBeNull()
})
