import { Label } from 'react-aria-components/Label'
import { Slider, SliderOutput, SliderThumb, SliderTrack } from 'react-aria-components/Slider'
import { Text } from 'react-aria-components/Text'
import styles from './share-slider.module.css'

interface Props {
  readonly label: string
  /** 0 to 100. */
  readonly percent: number
  readonly onChange: (percent: number) => void
  /** Says what it was before. */
  readonly hint: string
  readonly isDisabled?: boolean
}

const PERCENT = { style: 'unit', unit: 'percent' } as const

/** A share of a whole. Arrows move it by one percent, Page Up and Page Down by ten, Home and End to its ends. */
export const ShareSlider = ({ label, percent, onChange, hint, isDisabled = false }: Props) => (
  <Slider
    className={styles.slider}
    value={percent}
    onChange={(value) => onChange(value)}
    minValue={0}
    maxValue={100}
    formatOptions={PERCENT}
    isDisabled={isDisabled}
  >
    <span className={styles.words}>
      <Label className={styles.label}>
        <bdi>{label}</bdi>
      </Label>
      <SliderOutput className={styles.output}>{percent} %</SliderOutput>
    </span>
    <SliderTrack className={styles.track}>
      <span className={styles.line} aria-hidden="true">
        <span className={styles.filled} style={{ inlineSize: `${percent}%` }} />
      </span>
      <SliderThumb className={styles.thumb} />
    </SliderTrack>
    <Text className={styles.hint}>{hint}</Text>
  </Slider>
)
