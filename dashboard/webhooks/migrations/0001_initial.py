"""The tables of the receiver and of the pages to read again."""

import dashboard.encryption
import dashboard.webhooks.models
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name='Receiver',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_on', models.BooleanField(default=False)),
                ('secret', models.CharField(default=dashboard.webhooks.models.new_secret, max_length=64)),
                ('signing_secret', dashboard.encryption.EncryptedText(blank=True)),
                ('rejected_at', models.DateTimeField(null=True)),
                ('form_key', models.CharField(blank=True, max_length=64)),
                ('changed_at', models.DateTimeField(null=True)),
                ('changed_by', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ReceivedDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('received_at', models.DateTimeField(db_index=True)),
                ('size', models.PositiveIntegerField()),
                ('content_type', models.CharField(blank=True, max_length=200)),
                ('headers', models.JSONField()),
                ('encoding', models.CharField(blank=True, max_length=40)),
                ('body', models.TextField(blank=True)),
                ('changes', models.JSONField(default=list)),
                ('is_cut', models.BooleanField(default=False)),
                ('event', models.CharField(blank=True, max_length=64)),
                ('audience_id', models.TextField(blank=True)),
                ('is_signed', models.BooleanField(default=False)),
                ('event_digest', models.CharField(max_length=64, null=True, unique=True)),
                ('hint', models.CharField(blank=True, choices=[('read', 'Refresh requested'), ('not_known', 'Unknown audience'), ('too_many', 'Too many at once'), ('', 'None')], max_length=16)),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ['-pk'],
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('audience_id', ''), _negated=True), fields=['audience_id', 'event', '-received_at'], name='delivery_of_audience')],
            },
        ),
        migrations.CreateModel(
            name='PageHint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('wake_at', models.DateTimeField(null=True)),
                ('worker_id', models.CharField(blank=True, max_length=64)),
                ('page_id', models.TextField(unique=True)),
                ('waiting_since', models.DateTimeField(null=True)),
                ('not_before', models.DateTimeField()),
                ('read_at', models.DateTimeField(null=True)),
                ('followed_at', models.DateTimeField(null=True)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['wake_at'], name='webhooks_pa_wake_at_c1bd13_idx')],
            },
        ),
    ]
