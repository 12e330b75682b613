"""One GET, forty times a second for each user: fifty users make 2,000/s."""

from locust import FastHttpUser, constant_throughput, task


class Caller(FastHttpUser):
    wait_time = constant_throughput(40)

    @task
    def get(self):
        self.client.get("/json/valid")
