import { describe, expect, it } from 'vitest'
import { type CreationForm, creationOf, EMPTY_FORM, formFieldOf, membersOf } from './creation.ts'

const FORM: CreationForm = {
  ...EMPTY_FORM,
  ...{ name: ' shop ', place: 'pool:p1', members: '10.0.0.11:8080\n\n [fd10::12]:80 \n', checkPath: '/health' },
}

describe('creationOf', () => {
  it('makes one document of the form', () => {
    expect(creationOf(FORM)).toEqual({
      draft: {
        name: 'shop',
        vips: [{ from: 'pool', poolId: 'p1' }],
        pools: [
          {
            name: 'members',
            protocol: 'http',
            members: [
              { address: '10.0.0.11', port: 8080 },
              { address: 'fd10::12', port: 80 },
            ],
            monitor: { type: 'http', http: { path: '/health' } },
          },
        ],
        listeners: [
          {
            ...{ name: 'http-80', protocol: 'http', port: 80, defaultPool: 'members' },
            insertHeaders: ['x-forwarded-for', 'x-forwarded-proto'],
          },
        ],
      },
    })
  })

  it('takes an address of a subnet, a certificate, and no check', () => {
    const form: CreationForm = {
      ...{ ...FORM, place: 'subnet:n1:s1', address: '10.0.0.5', check: 'none' },
      ...{ protocol: 'https', port: '443', certificateId: 'c1' },
    }
    expect(creationOf(form)).toMatchObject({
      draft: {
        vips: [{ from: 'subnet', networkId: 'n1', subnetId: 's1', address: '10.0.0.5' }],
        listeners: [{ protocol: 'https', tls: { certificateIds: ['c1'] } }],
        pools: [{ monitor: null }],
      },
    })
  })

  it('forwards connections without reading them for TCP', () => {
    const made = creationOf({ ...FORM, protocol: 'tcp', port: '25', check: 'tcp' })
    expect(made).toMatchObject({ draft: { pools: [{ protocol: 'tcp', monitor: { type: 'tcp' } }] } })
    expect(JSON.stringify(made)).not.toContain('x-forwarded-for')
  })

  it('says at each field what is wrong', () => {
    const wrong: CreationForm = {
      ...{ ...FORM, name: ' ', place: '', port: '0', members: '10.0.0.11', checkPath: 'x' },
      protocol: 'https',
    }
    expect(creationOf(wrong)).toEqual({
      errors: {
        name: 'is required',
        place: 'is required',
        port: 'must be a whole number from 1 to 65535',
        certificateId: 'is required for HTTPS',
        members: 'line 1 must be like 10.0.0.11:8080 or [fd10::11]:8080',
        checkPath: 'must begin with /',
      },
    })
  })
})

it('names the line of a member that cannot be read', () => {
  for (const line of ['x', '10.0.0.1', '10.0.0.1:', '10.0.0.1:70000', 'fd10::1:80', 'a b:80'])
    expect(membersOf(`10.0.0.11:80\n${line}`)).toEqual({ error: expect.stringContaining('line 2') })
})

it('finds the field of the form for what the server refused', () => {
  expect(formFieldOf('vips[0].address')).toBe('address')
  expect(formFieldOf('vips[0].poolId')).toBe('place')
  expect(formFieldOf('pools[0].members[3].address')).toBe('members')
  expect(formFieldOf('listeners[0].tls.certificateIds[0]')).toBe('certificateId')
  expect(formFieldOf('projectId')).toBeNull()
})
