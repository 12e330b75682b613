// One GET of URL, RATE times a second for DURATION, by at most VUS virtual users; prints the figures of the summary as JSON.
import http from 'k6/http';

export const options = {
  scenarios: {
    load: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      timeUnit: '1s',
      duration: __ENV.DURATION,
      preAllocatedVUs: Number(__ENV.VUS),
    },
  },
  summaryTrendStats: ['p(95)', 'p(99)', 'max'],
};

export default function () {
  http.get(__ENV.URL);
}

export function handleSummary(data) {
  return { stdout: JSON.stringify(data.metrics) };
}
