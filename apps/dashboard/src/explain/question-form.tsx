import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { explainLoadBalancer } from '../api/load-balancers.ts'
import { keys } from '../api/query-keys.ts'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Name } from '../parts/name.tsx'
import { TextInput } from '../parts/text-input.tsx'
import styles from './explain-page.module.css'
import { partsOfUrl, type Question, urlHint, wrongIn } from './question.ts'

interface Props {
  readonly asked: Question
  readonly onAsk: (question: Question) => void
}

const TRANSPORTS = ['tcp', 'udp', 'sctp'].map((value) => ({ value, text: value.toUpperCase() }))
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']

/** The fields of a question. Nothing is marked as wrong before it was asked. */
export function QuestionForm({ asked, onAsk }: Props) {
  const [question, setQuestion] = useState(asked)
  const [isShown, setShown] = useState(asked.address !== '')
  const wrong = isShown ? wrongIn(question) : {}
  const set = (field: keyof Question) => (value: string) => setQuestion((before) => ({ ...before, [field]: value }))
  const field = (name: keyof Question) => ({ value: question[name], onChange: set(name), error: wrong[name] ?? null })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setShown(true)
    if (Object.keys(wrongIn(question)).length === 0) onAsk(question)
  }
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <AddressOfWeb onParts={(parts) => setQuestion((before) => ({ ...before, ...parts }))} />
      <Of question={question} onAddress={set('address')} />
      <TextInput label="Address" {...field('address')} placeholder="198.51.100.16" autoComplete="off" />
      <div className={styles.pair}>
        <TextInput label="Port" {...field('port')} inputMode="numeric" />
        <Choice label="Protocol" options={TRANSPORTS} value={question.transport} onChange={set('transport')} />
      </div>
      <div className={styles.pair}>
        <TextInput label="Host or server name" {...field('host')} placeholder="shop.example.com" />
        <Choice
          label="Method"
          options={METHODS.map((value) => ({ value, text: value }))}
          value={question.method}
          onChange={set('method')}
        />
      </div>
      <TextInput label="Path" {...field('path')} />
      <TextInput label="Headers" {...field('headers')} rows={2} placeholder="x-beta: 1" hint="A line for each." />
      <TextInput label="Client" {...field('source')} hint="Its address, for lists and routes that ask for it." />
      <Button type="submit" variant="primary">
        Explain
      </Button>
    </form>
  )
}

/** Takes an address of the web apart. */
function AddressOfWeb({ onParts }: { readonly onParts: (parts: Partial<Question>) => void }) {
  const [text, setText] = useState('')
  const change = (next: string): void => {
    setText(next)
    const parts = partsOfUrl(next)
    if (parts !== null) onParts(parts)
  }
  return (
    <TextInput
      label="URL"
      value={text}
      onChange={change}
      placeholder="https://shop.example.com/cart"
      hint={urlHint(text)}
    />
  )
}

/** The load balancer that is asked about, with its addresses to choose from. */
function Of({ question, onAddress }: { readonly question: Question; readonly onAddress: (address: string) => void }) {
  const { data } = useQuery({
    queryKey: keys.explanation(question.lb),
    queryFn: ({ signal }) => explainLoadBalancer(question.lb, signal),
    enabled: question.lb !== '',
  })
  if (data === undefined) return null
  const { loadBalancer, vips } = data
  return (
    <div>
      <p className={styles.soft}>
        Load balancer <Name of={loadBalancer.name} or={loadBalancer.id} /> has
      </p>
      <div className={styles.buttons}>
        {vips.map(({ address }) => (
          <Button key={address} variant="quiet" onPress={() => onAddress(address)}>
            {address}
          </Button>
        ))}
      </div>
    </div>
  )
}
