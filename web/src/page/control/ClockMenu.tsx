import { Icon } from '../frame/icons';
import { lazily } from '../frame/Lazy';
import { Popover } from '../frame/Popover';
import { words } from '../words';
import { clockMissing, engineClock } from './clock';

export const loadClockControls = () =>
  import('./ClockControls').then(({ ClockControls }) => ClockControls);
const ClockControls = lazily(loadClockControls);

/** How the cluster's time goes, at a glance; opened, how it may go otherwise. */
export function ClockMenu() {
  if (clockMissing.value) return null;
  const text = words.clock;
  const state = engineClock.value;
  const isOther = state !== null && (state.paused || state.speed !== 1);
  const face = !state ? '' : state.paused ? text.paused : text.times(state.speed);
  return (
    <Popover
      class={`clock-menu ${isOther ? 'is-other' : ''}`}
      button={`top-button clock-button ${state ? '' : 'is-unknown'}`}
      label={face ? text.state(face) : text.label}
      title={text.label}
      face={
        <>
          <Icon name={state?.paused ? 'pause' : 'play'} size={14} />
          <span>{face}</span>
        </>
      }
    >
      {() => <ClockControls />}
    </Popover>
  );
}
