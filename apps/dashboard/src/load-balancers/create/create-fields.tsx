import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listCertificates } from '../../api/certificates.ts'
import { keys } from '../../api/query-keys.ts'
import { Choice, type Option } from '../../parts/choice.tsx'
import { Card } from '../../parts/page.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import styles from './create-page.module.css'
import { CHECKS, type Check, type CreationForm, FORM_PROTOCOLS, type FormErrors, USUAL_PORTS } from './creation.ts'

interface Props {
  readonly form: CreationForm
  readonly errors: FormErrors
  readonly places: readonly Option[]
  readonly onChange: (change: Partial<CreationForm>) => void
}

const CHECK_WORDS: Readonly<Record<Check, string>> = {
  http: 'HTTP request',
  tcp: 'TCP connection',
  ping: 'Ping',
  none: 'None',
}

const CHECK_HINTS: Readonly<Record<Check, string>> = {
  http: 'A member is up when it answers a request with 200.',
  tcp: 'A member is up when it accepts a connection.',
  ping: 'A member is up when its machine answers an echo.',
  none: 'Members are taken to be up.',
}

const PROTOCOL_WORDS = {
  http: 'HTTP: requests',
  https: 'HTTPS: requests over TLS, which ends here',
  tcp: 'TCP: connections',
  udp: 'UDP: datagrams',
} as const

const CHECK_OF = { http: 'http', https: 'http', tcp: 'tcp', udp: 'ping' } as const

/** The fields of the form, in the order in which a connection meets them. */
export const CreateFields = ({ form, errors, places, onChange }: Props) => (
  <>
    <Card title="Name and address">
      <div className={styles.fields}>
        <TextInput
          label="Name"
          value={form.name}
          onChange={(name) => onChange({ name })}
          error={errors.name ?? null}
          autoFocus
        />
        <Choice
          label="Address from"
          value={form.place}
          onChange={(place) => onChange({ place })}
          error={errors.place ?? null}
          options={places.length === 0 ? [{ value: '', text: 'No pool is open to this project' }] : places}
        />
        <TextInput
          label="Address"
          value={form.address}
          onChange={(address) => onChange({ address })}
          error={errors.address ?? null}
          placeholder="any that is free"
        />
      </div>
    </Card>
    <Card title="What it listens to">
      <div className={styles.fields}>
        <Choice
          label="Protocol"
          value={form.protocol}
          onChange={(value) => {
            const protocol = FORM_PROTOCOLS.find((one) => one === value) ?? 'http'
            onChange({ protocol, port: USUAL_PORTS[protocol], check: CHECK_OF[protocol] })
          }}
          error={errors.protocol ?? null}
          options={FORM_PROTOCOLS.map((value) => ({ value, text: PROTOCOL_WORDS[value] }))}
        />
        <TextInput
          label="Port"
          value={form.port}
          onChange={(port) => onChange({ port })}
          error={errors.port ?? null}
          inputMode="numeric"
        />
        {form.protocol === 'https' && <CertificateChoice form={form} errors={errors} onChange={onChange} />}
      </div>
    </Card>
    <Card title="Members">
      <div className={styles.fields}>
        <div className={styles.members}>
          <TextInput
            label="Members"
            rows={5}
            value={form.members}
            onChange={(members) => onChange({ members })}
            error={errors.members ?? null}
            placeholder={'10.0.0.11:8080\n10.0.0.12:8080'}
            hint="One address and port a line. More can be added later."
          />
        </div>
        <Choice
          label="Check"
          value={form.check}
          onChange={(value) => onChange({ check: CHECKS.find((one) => one === value) ?? 'none' })}
          error={errors.check ?? null}
          hint={CHECK_HINTS[form.check]}
          options={CHECKS.map((value) => ({ value, text: CHECK_WORDS[value] }))}
        />
        {form.check === 'http' && (
          <TextInput
            label="Path of the check"
            value={form.checkPath}
            onChange={(checkPath) => onChange({ checkPath })}
            error={errors.checkPath ?? null}
          />
        )}
      </div>
    </Card>
  </>
)

function CertificateChoice({ form, errors, onChange }: Omit<Props, 'places'>) {
  const { data: certificates = [] } = useQuery({
    queryKey: keys.of('certificate'),
    queryFn: ({ signal }) => listCertificates(signal),
  })
  const usable = certificates.filter(({ use }) => use === 'keyed')
  return (
    <div>
      <Choice
        label="Certificate"
        value={form.certificateId}
        onChange={(certificateId) => onChange({ certificateId })}
        error={errors.certificateId ?? null}
        options={[
          { value: '', text: usable.length === 0 ? 'No certificate yet' : 'Choose one' },
          ...usable.map(({ id, name, names }) => ({ value: id, text: `${name || id} (${names.join(', ')})` })),
        ]}
      />
      <Link to="/certificates" target="_blank">
        Upload a certificate
      </Link>
    </div>
  )
}
